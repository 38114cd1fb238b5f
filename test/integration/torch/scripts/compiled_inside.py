"""torch.compile within DistributedDataParallel, as of the whole model, so of one of its layers: names of parameters get a prefix."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel

rank, ranks = digits.start()
net = digits.perceptron()
net[2] = torch.compile(net[2], backend="eager")
model = DistributedDataParallel(torch.compile(net, backend="eager"))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for points, labels in digits.batches(rank):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    optimizer.step()
digits.finish(loss)
