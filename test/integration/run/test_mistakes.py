"""Each mistake of a newcomer on a command line gives one line that names what was expected, what was given, and where
it was given or what to do; nothing is run."""

import os
import pathlib
import subprocess
import unittest

from harness import CGX_RUN, RunTest

FOLDER = pathlib.Path(CGX_RUN).parent

# (program, words, the expected text of the line)
MISTAKES = [
    ("cgx-run", "", "expected a program, or --program"),
    ("cgx-run", "a.so b.so", "expected no more words, got 'b.so'"),
    ("cgx-run", "a.so --rank 4", "--rank requires --ranks"),
    ("cgx-run", "a.so --rnks 4", r"no such option --rnks \(did you mean '--ranks'\?\)"),
    ("cgx-run", "a.so --bits 4", "no such option --bits: options of codecs are one value, --compress \"bits=4 bucket=128\""),
    ("cgx-run", "a.so --bits=4", "no such option --bits: options of codecs are one value"),
    ("cgx-run", "a.so --codec quantize", "no such option --codec: options of codecs are one value"),
    ("cgx-run", "a.so --lr 0.1", "no such option --lr: arguments of the step are set by --set lr=0.1"),
    ("cgx-run", "a.so --batch-size 64", "no such option --batch-size: the size of a batch is that of the exported step"),
    ("cgx-run", "a.so --checkpoint-every 5", "no such option --checkpoint-every: checkpoints are written by --save FOLDER/ --save-every K"),
    ("cgx-run", "a.so --epochs 5", "no such option --epochs: give the number of steps, --steps K --repeat"),
    ("cgx-run", "a.so --gpu", "no such option --gpu: cgx-run trains on processors"),
    ("cgx-run", "a.so --compress", "--compress: expected a value, got none"),
    ("cgx-run", "a.so --compress bits=4 bucket=128", "quote what belongs together, --compress \"bits=4 bucket=128\""),
    ("cgx-run", "a.so --set a=1 b=2", "name the option again for each, --set a=1 --set b=2"),
    ("cgx-run", "a.so --steps 10k", "--steps: expected a whole number, got '10k'"),
    ("cgx-run", "a.so --steps 3 --steps 4", "--steps: expected once, got 2 times"),
    ("cgx-run", "a.so --seed -1", "--seed: expected a whole number, got '-1'"),
    ("cgx-run", "a.so --timeout 0", "--timeout: expected a number from 0.001 to 1000000, got '0'"),
    ("cgx-run", "a.so --timeout soon", "--timeout: expected a number from 0.001 to 1000000, got 'soon'"),
    ("cgx-run", "a.so --transport udp", "--transport: expected one of shm, inproc, .*, got 'udp'"),
    ("cgx-run", "a.so --transport shm_mpi", r"got 'shm_mpi' \(did you mean 'shm\+mpi'\?\)"),
    ("cgx-run", "a.so --stop-on-nan=maybe", "--stop-on-nan: expected no value, true or false, got 'maybe'"),
    ("cgx-run", "a.so --eval-data x.safetensors", "--eval-data requires --eval"),
    ("cgx-run", "a.so --config nowhere.toml", "cannot read 'nowhere.toml'"),
    ("cgx-run", "a.so --save=", "--save: expected a value, got none"),
    ("cgx-plan", "", "expected a command: .*solve"),
    ("cgx-plan", "solv", r"expected a command: .*solve.* \(did you mean 'solve'\?\)"),
    ("cgx-plan", "solve nowhere.json", "cannot read 'nowhere.json'"),
    ("cgx-bench", "", "expected a command: .*all-reduce"),
    ("cgx-bench", "allreduce", r"expected a command: .*all-reduce.* \(did you mean 'all-reduce'\?\)"),
    ("cgx-bench", "all-reduce --sizes 1X", "expected a size from 4 bytes to 8e9, such as 4KiB or 64MiB, got '1X'"),
    ("cgx-bench", "all-reduce --size 1MiB", r"no such option --size \(did you mean '--sizes'\?\)"),
    ("cgx-curves", "", "expected runs"),
]


class MistakesTest(RunTest):
    def test_each_is_one_line_that_says_what_was_expected(self):
        before = set(os.listdir(self.folder))
        for program, words, expected in MISTAKES:
            with self.subTest(program=program, words=words):
                if not (FOLDER / program).exists():
                    self.skipTest(f"{program} was not built")
                done = subprocess.run([FOLDER / program, *words.split()], capture_output=True, text=True, cwd=self.folder,
                                      env=self.environment(), check=False, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertRegex(done.stderr, f"^{program}: error: .*{expected}")
                self.assertEqual(set(os.listdir(self.folder)), before)


if __name__ == "__main__":
    unittest.main()
