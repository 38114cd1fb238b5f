"""A language model whose embedding is its output matrix, too; gradients are accumulated over micro-batches, then clipped, and
the rate warms up."""

import contextlib

import digits
import torch
from torch.nn.parallel import DistributedDataParallel


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(256, 64)
        torch.nn.init.normal_(self.embed.weight, std=0.1)
        self.place = torch.nn.Parameter(torch.zeros(16, 64))
        layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(64, 256, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        mask = torch.full((16, 16), float("-inf")).triu(1)
        return self.head(self.layers(self.embed(tokens) + self.place, mask))


rank, ranks = digits.start()
model = DistributedDataParallel(Model())
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))
random = torch.Generator().manual_seed(rank + 1)
for step in range(digits.STEPS):
    optimizer.zero_grad(set_to_none=True)
    for part in range(2):
        start = torch.randint(0, 256, (8, 1), generator=random)
        tokens = (start + 3 * torch.arange(17)) % 256
        with contextlib.nullcontext() if part == 1 else model.no_sync():
            loss = torch.nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()) / 2
            loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    warmup.step()
digits.finish(2 * loss)
