"""A table whose gradients are sparse, rows of what the batch named, before a dense network: two optimizers, as SparseAdam is for
such tables alone."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.EmbeddingBag(1000, 64, sparse=True, mode="sum")
        self.dense = digits.perceptron()

    def forward(self, x):
        return self.dense(self.table((100 * x.abs()).long().clamp(max=999)) / 8 + x)


rank, ranks = digits.start()
model = DistributedDataParallel(Model())
learn = [torch.optim.SparseAdam(model.module.table.parameters(), lr=1e-3), torch.optim.Adam(model.module.dense.parameters(), lr=1e-3)]
for points, labels in digits.batches(rank):
    for each in learn:
        each.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    for each in learn:
        each.step()
digits.finish(loss)
