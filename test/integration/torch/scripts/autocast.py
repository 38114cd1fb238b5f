"""Mixed precision: autocast to bf16 around the forward pass, with a frozen first layer and an evaluation between steps."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel

rank, ranks = digits.start()
net = digits.perceptron()
net[0].requires_grad_(False)
model = DistributedDataParallel(net, bucket_cap_mb=0.1)
optimizer = torch.optim.AdamW((each for each in model.parameters() if each.requires_grad), lr=3e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, digits.STEPS)
held_out = next(digits.batches(99, 1))
for step, (points, labels) in enumerate(digits.batches(rank)):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 5 == 0 and rank == 0:  # only on one rank
        model.eval()
        with torch.no_grad():
            model.module(held_out[0])
        model.train()
digits.finish(loss)
