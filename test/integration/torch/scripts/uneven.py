"""Ranks have different numbers of batches (the join of DistributedDataParallel)."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel

rank, ranks = digits.start()
model = DistributedDataParallel(digits.perceptron(), bucket_cap_mb=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
with model.join():
    for points, labels in digits.batches(rank, digits.STEPS - 3 * (rank == 0)):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(points), labels)
        loss.backward()
        optimizer.step()
digits.finish(loss)
