"""The optimizer's state is split between ranks (ZeroRedundancyOptimizer)."""

import digits
import torch
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

rank, ranks = digits.start()
model = DistributedDataParallel(digits.perceptron(), bucket_cap_mb=0.1)
optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=3e-3)
for points, labels in digits.batches(rank):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    optimizer.step()
digits.finish(loss)
