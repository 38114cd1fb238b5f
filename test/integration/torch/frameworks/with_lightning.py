"""Runs Lightning's Trainer, in a script that does not mention cgx. Prints its losses.

    python with_lightning.py FOLDER ddp|fsdp2 [saves|resumes]

With `resumes` it goes on from what another run, with `saves`, left in the folder after its second epoch."""

import hashlib
import json
import sys

import lightning
import torch
from torch.distributed.fsdp import fully_shard
from lightning.pytorch.strategies import ModelParallelStrategy


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
        self.losses = []

    def configure_model(self):
        if sys.argv[2] == "fsdp2":
            mesh = self.device_mesh["data_parallel"]
            for each in (self.layers[0], self.layers[2], self.layers):
                fully_shard(each, mesh=mesh)

    def training_step(self, batch, _):
        given, wanted = batch
        loss = (self.layers(given) - wanted).square().mean()
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


lightning.seed_everything(0)
x = torch.randn(256, 64)
batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x[:, :8]), batch_size=16)
strategy = ModelParallelStrategy(data_parallel_size=2, tensor_parallel_size=1) if sys.argv[2] == "fsdp2" else "ddp"
model = Model()
more = {}
if sys.argv[3:] == ["saves"]:
    more["callbacks"] = [lightning.pytorch.callbacks.ModelCheckpoint(f"{sys.argv[1]}/epochs", "{epoch}", save_top_k=-1)]
trainer = lightning.Trainer(**more, max_epochs=4, accelerator="cpu", devices=2, strategy=strategy, logger=False, enable_progress_bar=False,
                            enable_model_summary=False, enable_checkpointing=sys.argv[2] == "ddp", default_root_dir=sys.argv[1])
trainer.fit(model, batches, ckpt_path=f"{sys.argv[1]}/epochs/epoch=1.ckpt" if sys.argv[3:] == ["resumes"] else None)
whole = (each.full_tensor() if hasattr(each, "full_tensor") else each for each in model.parameters())
bits = hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in whole)).hexdigest()
print(json.dumps({"losses": model.losses, "bits": bits}), flush=True)
