"""A small network of vision in channels_last, whose gradients are not contiguous: convolutions, batch norm, a skip connection."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(1, 32, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(32)
        self.block = torch.nn.Conv2d(32, 32, 3, padding=1)
        self.head = torch.nn.Linear(32 * 16, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        x = torch.nn.functional.avg_pool2d(x + torch.relu(self.block(x)), 2)
        return self.head(x.flatten(1))


rank, ranks = digits.start()
model = DistributedDataParallel(Model().to(memory_format=torch.channels_last), gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
for points, labels in digits.batches(rank):
    optimizer.zero_grad()
    images = points.reshape(-1, 1, 8, 8).to(memory_format=torch.channels_last)
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
digits.finish(loss)
