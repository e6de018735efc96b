from torch import *
from enum import Enum

import torch


class ComputeMode(Enum):
	CPU = 0
	GPU = 1
	RDU = 6


class Trainer:
	def __init__(self, args, net):
		self.args = args
		self.net = net

	def init_optimizer(self):
		if self.args.optimizer == "adam":
			self.opt = torch.optim.Adam(self.net.parameters(), lr=0.1)
		else:
			self.opt = torch.optim.RMSprop(self.net.parameters(), lr=0.1)

	def move(self, image):
		if self.args.compute_mode == ComputeMode.GPU:
			match flag:
			    case 1 | 2:
			        pass
			    case _:
			        image = image.cuda()
		return image

	def momentum(self, image, label):
		self.opt.zero_grad()
		loss = torch.nn.functional.mse_loss(self.net(self.move(image)), label)
		loss.backward()
		self.opt.step()

	def val_step(self, image, label):
		with torch.no_grad():
			self.loss = torch.nn.functional.mse_loss(self.net(self.move(image)), label)
		return loss


if __name__ == "__main__":
	Trainer(read_args(), build()).train()
