"""A pair of adversaries: a backward pass of one model runs through the other, whose gradients are computed and thrown away."""

import digits
import torch
from torch.nn.parallel import DistributedDataParallel

rank, ranks = digits.start()
generator = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64)))
critic = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.LeakyReLU(0.2), torch.nn.Linear(256, 1)))
learn_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
learn_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
noise, judge = torch.Generator().manual_seed(100 + rank), torch.nn.functional.binary_cross_entropy_with_logits
for points, _ in digits.batches(rank):
    fake = generator(torch.randn(16, 32, generator=noise))
    learn_critic.zero_grad()
    said = critic(torch.cat([points, fake.detach()]))
    (judge(said[:16], torch.ones(16, 1)) + judge(said[16:], torch.zeros(16, 1))).backward()
    learn_critic.step()
    learn_generator.zero_grad()
    for each in critic.parameters():
        each.requires_grad_(False)
    loss = judge(critic.module(fake), torch.ones(16, 1))
    loss.backward()
    for each in critic.parameters():
        each.requires_grad_(True)
    learn_generator.step()
digits.finish(loss)
