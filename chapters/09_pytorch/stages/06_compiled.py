"""Stage 5 inside torch.compile. Alone, it pays for the guards of the compiled function; in a model, many
operators share them."""

import torch
import workbook_ops

multiply_add = torch.compile(workbook_ops.multiply_add, fullgraph=True)
