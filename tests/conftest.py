"""One thread for every test: on busy cores two make small tensors many times slower."""

import torch

torch.set_num_threads(1)
