"""A loop of Accelerate that does not mention cgx. Prints its losses.

    python with_accelerate.py FOLDER [resumes]

With `resumes` it goes on from what another run saved in the folder, after its second epoch."""

import hashlib
import json
import sys

import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
x = torch.randn(256, 64)
batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x[:, :8]), batch_size=16)
prepared, optimizer, batches = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-2), batches)
losses, resumes = [], sys.argv[2:] == ["resumes"]
if resumes:
    accelerator.load_state(sys.argv[1])
for epoch in range(2 if resumes else 0, 4):
    for given, wanted in batches:
        with accelerator.accumulate(prepared):
            loss = (prepared(given) - wanted).square().mean()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(prepared.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(accelerator.reduce(loss.detach(), "mean").item())
    if epoch == 1:
        accelerator.save_state(sys.argv[1])
        accelerator.wait_for_everyone()
        accelerator.load_state(sys.argv[1])
# The saved state is the model's, independent of wrappers.
model.load_state_dict(accelerator.get_state_dict(prepared))
bits = hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in model.parameters())).hexdigest()
print(json.dumps({"losses": losses, "bits": bits}), flush=True)
accelerator.end_training()
