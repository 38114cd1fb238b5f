"""examples/in-torch: the script with two more lines trains like the plain one."""

import difflib
import re
import unittest

import ranks as job_ranks
from ranks import PACKAGE, ROOT, torch

FOLDER = ROOT / "examples" / "in-torch"


def train(script, *arguments, ranks=2):
    """Returns the output of rank 0."""
    done = job_ranks.run(lambda rank, port: [FOLDER / script, *arguments], ranks, environment={"PYTHONPATH": str(PACKAGE)})
    for each in done:
        assert job_ranks.succeeded(each, plain=script == "plain.py"), f"{each.code}: {each.said[-3000:]}"
    return done[0].printed, float(re.search(r"accuracy ([\d.]+)%", done[0].printed).group(1))


class InTorchTest(unittest.TestCase):
    def test_two_lines_more(self):
        plain, compressed = [(FOLDER / name).read_text().splitlines() for name in ("plain.py", "compressed.py")]
        changed = [line for line in difflib.ndiff(plain, compressed) if line[0] in "+-"]
        self.assertEqual([line[0] for line in changed if "cgx_torch" in line], ["+", "+"])
        self.assertEqual(len(changed), 2 + 4, "besides the two lines, only the documentation differs")

    @unittest.skipIf(torch is None, job_ranks.NO_TORCH)
    @unittest.skipUnless(job_ranks.HAS_LIBRARIES, job_ranks.NO_LIBRARIES)
    def test_it_trains_as_well(self):
        printed, accuracy = train("compressed.py")
        self.assertEqual(printed.count("cgx report: 2 ranks"), 1)
        self.assertGreater(accuracy, train("plain.py")[1] - 2)

    @unittest.skipUnless(job_ranks.HAS_LIBRARIES, job_ranks.NO_LIBRARIES)
    @unittest.skipUnless(job_ranks.has_fsdp(), job_ranks.NO_FSDP)
    def test_so_it_does_with_its_parameters_split(self):
        printed, accuracy = train("sharded.py")
        self.assertRegex(printed, r"[34]\.\d times fewer bytes")
        plain = train("plain.py")[1]
        self.assertGreater(accuracy, plain - 2)
        printed, accuracy = train("sharded.py", "--replicas", "2", ranks=4)
        self.assertRegex(printed, r"between shards, ranks 0, 1:[^$]*between replicas, ranks 0, 2:")
        self.assertGreater(accuracy, plain - 2)


if __name__ == "__main__":
    unittest.main()
