"""Gradients of four batches are accumulated under no_sync; then they are clipped."""

import contextlib

import digits
import torch
from torch.nn.parallel import DistributedDataParallel

rank, ranks = digits.start()
model = DistributedDataParallel(digits.perceptron(), gradient_as_bucket_view=True, bucket_cap_mb=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step, (points, labels) in enumerate(digits.batches(rank, 4 * digits.STEPS)):
    changes = step % 4 == 3
    with contextlib.nullcontext() if changes else model.no_sync():
        loss = torch.nn.functional.cross_entropy(model(points), labels) / 4
        loss.backward()
    if changes:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
digits.finish(4 * loss)
