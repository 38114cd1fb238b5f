"""find_unused_parameters: each rank takes a branch of its own; input and output share their matrix."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Linear(64, 256)
        self.branches = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(3))
        self.again = torch.nn.Linear(64, 256)
        self.again.weight = self.enter.weight  # tied
        self.leave = torch.nn.Linear(256, 10)

    def forward(self, x, branch):
        hidden = torch.relu(self.enter(x))
        return self.leave(torch.relu(self.branches[branch](hidden)) + self.again(x))


rank, ranks = digits.start()
model = DistributedDataParallel(Model(), find_unused_parameters=True, bucket_cap_mb=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step, (points, labels) in enumerate(digits.batches(rank)):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(points, (step + rank) % 3), labels)
    loss.backward()
    optimizer.step()
digits.finish(loss)
