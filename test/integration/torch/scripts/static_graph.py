"""static_graph, with blocks that are computed again in the backward pass and a layer that is used twice."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.twice, self.leave = torch.nn.Linear(64, 256), torch.nn.Linear(256, 256), torch.nn.Linear(256, 10)

    def forward(self, x):
        x = torch.relu(self.enter(x))
        for _ in range(2):
            x = x + torch.relu(checkpoint(self.twice, x, use_reentrant=False))
        return self.leave(x)


rank, ranks = digits.start()
model = DistributedDataParallel(Model(), static_graph=True, bucket_cap_mb=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for points, labels in digits.batches(rank):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    optimizer.step()
digits.finish(loss)
