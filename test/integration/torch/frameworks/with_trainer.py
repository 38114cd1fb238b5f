"""Runs the Trainer of transformers, in a script that does not mention cgx, and resumes from its own checkpoint. Prints
its losses.

    python with_trainer.py FOLDER [whole]

With `whole` it is not interrupted."""

import hashlib
import json
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Sequences(torch.utils.data.Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, index):
        tokens = (torch.arange(16) * (index % 5 + 1)) % 64
        return {"input_ids": tokens, "labels": tokens}


def train(steps, resumes):
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=64, n_layer=2, n_head=2))
    arguments = TrainingArguments(sys.argv[1], max_steps=steps, per_device_train_batch_size=8, use_cpu=True, logging_steps=4, save_steps=8,
                                  learning_rate=1e-3, lr_scheduler_type="constant", report_to=[], disable_tqdm=True)
    trainer = Trainer(model, arguments, train_dataset=Sequences())
    trainer.train(resume_from_checkpoint=resumes)
    bits = hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in model.parameters())).hexdigest()
    return [float(each["loss"]) for each in trainer.state.log_history if "loss" in each], bits


if sys.argv[2:] != ["whole"]:
    train(8, False)
losses, bits = train(24, sys.argv[2:] != ["whole"])
print(json.dumps({"losses": losses, "bits": bits}), flush=True)
