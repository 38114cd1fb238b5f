"""Two models that learn from each other, each DistributedDataParallel of its own; one is stepped twice as often."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel

rank, ranks = digits.start()
teacher = DistributedDataParallel(digits.perceptron(), bucket_cap_mb=0.1)
student = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)))
learn_teacher = torch.optim.SGD(teacher.parameters(), lr=0.05)
learn_student = torch.optim.SGD(student.parameters(), lr=0.05)
for step, (points, labels) in enumerate(digits.batches(rank)):
    if step % 2 == 0:
        learn_teacher.zero_grad()
        torch.nn.functional.cross_entropy(teacher(points), labels).backward()
        learn_teacher.step()
    learn_student.zero_grad()
    with torch.no_grad():
        target = teacher.module(points).softmax(1)
    loss = torch.nn.functional.cross_entropy(student(points), labels) + torch.nn.functional.cross_entropy(student.module(points), target)
    loss.backward()
    learn_student.step()
digits.finish(loss)
