"""How well the end of a training is known: 21 programs, each imitated by its output (styles.py),
run twice under the real server. At a quarter and at half of each run it is noted whether a
percentage and the time left are shown, and how far they are off.

    bench/ends.sh [SECONDS]     length of a run, 12 by default"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD", HERE.parents[1] / "build")).resolve()
TRAINYARD = str(BUILD / "trainyard")
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 12
AT_ONCE = 7
POINTS = (0.25, 0.5)

# style: command, what else its script says
PROGRAMS = {
    "pytorch_mnist": ("python3 main.py --epochs 3", ""),
    "pytorch_vae": ("python3 main.py --epochs 3", ""),
    "pytorch_dcgan": ("python3 main.py --dataset fake --niter 4", ""),
    "pytorch_imagenet": ("python3 main.py -a resnet18 --epochs 3 --dummy", ""),
    "pytorch_hogwild": ("python3 main.py --epochs 3", ""),
    "pytorch_language_model": ("python3 main.py --model LSTM --epochs 4", ""),
    "pytorch_time_sequence": ("python3 train.py --steps 15", ""),
    "nanogpt": ("python3 train.py config.py --device=cpu --max_iters=1000", ""),
    "mingpt": ("python3 adder.py --trainer.max_iters=500", ""),
    "makemore": ("python3 makemore.py -i names.txt -o out --max-steps 500", ""),
    "pytorch_cifar": ("python3 main.py --lr 0.01", "for epoch in range(start_epoch, start_epoch+3):"),
    "llm_c": ("./train_gpt2", ""),
    "darknet": ("./darknet classifier train cfg.data cifar.cfg", ""),
    "fasttext": ("./fasttext supervised -input train.txt -output model", ""),
    "word2vec": ("./word2vec -train text8 -output vec.txt -iter 5", ""),
    "glove": ("./glove -input-file c.bin -save-file v -iter 15", ""),
    "xgboost": ("./xgboost x.conf eval_metric=logloss num_round=20", ""),
    "xgboost_python": ("python3 boost.py", "bst = xgb.train(params, dtrain, num_boost_round=20)"),
    "sklearn_mlp": ("python3 mlp.py", ""),
    "r_nnet": ("./Rscript nnet.R", "nnet(x, y, size = 4, maxit = 100)"),
    "libsvm": ("./svm-train -c 10 data.txt", ""),
}
STYLES = {"xgboost_python": "xgboost"}


def prepare(folder, name, command, script):
    """Makes the directory in which the program is run."""
    folder.mkdir()
    program, *words = command.split()
    text = (f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(HERE)!r})\nimport styles\n"
            f"styles.run({STYLES.get(name, name)!r}, {SECONDS})\n")
    if program == "python3":
        (folder / words[0]).write_text(text + (f"'''\n{script}\n'''\n" if script else ""))
    else:
        (folder / program).write_text(text)
        (folder / program).chmod(0o755)
    if name == "r_nnet":
        (folder / "nnet.R").write_text(script + "\n")
    if name == "darknet":
        (folder / "cifar.cfg").write_text("[net]\nbatch=128\nmax_batches = 100\n")


class Run:
    """One job, and what was shown of it."""

    def __init__(self, server, folder, name, command):
        self.server, self.name, self.seen = server, name, {}
        out = subprocess.run([TRAINYARD, "submit", "--server", server, "--quiet", "-c", "0.1", "-n", name,
                              "--workdir", str(folder), "--", *command.split()],
                             check=True, capture_output=True, text=True)
        self.id = out.stdout.strip()

    def look(self):
        """True when it is over."""
        out = subprocess.run([TRAINYARD, "show", "--server", self.server, "--json", self.id], check=True,
                             capture_output=True, text=True).stdout
        job = json.loads(out)
        now = time.time()
        if job["started"]:
            passed = (now - job["started"]) / SECONDS
            for point in POINTS:
                if passed >= point and point not in self.seen:
                    self.seen[point] = (passed, job["progress"] or {}, now)
        return job["ended"] is not None

    def verdict(self, point):
        """The percentage and the relative errors of it and of the time left; None = not shown."""
        passed, progress, now = self.seen.get(point, (0, {}, 0))
        fraction, end = progress.get("fraction"), progress.get("expected_end")
        left = (1 - passed) * SECONDS
        return (None if fraction is None else abs(fraction - passed),
                None if end is None or left <= 0 else abs(end - now - left) / left,
                progress.get("total_from"))


def run_all(server, folders):
    waiting, running, over = list(folders.items()), [], []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            name, folder = waiting.pop(0)
            running.append(Run(server, folder, name, PROGRAMS[name][0]))
        for run in list(running):
            if run.look():
                running.remove(run)
                over.append(run)
        time.sleep(0.05)
    return over


def report(title, runs):
    known, errors, shares = 0, [], []
    print(f"\n{title}\n{'program':24} {'at 25 %':>16} {'at 50 %':>16}  total from")
    for run in runs:
        cells = []
        for point in POINTS:
            share, left, source = run.verdict(point)
            cells.append("-" if share is None else f"{'?' if left is None else f'{left:.0%}':>6}")
        share, left, source = run.verdict(POINTS[-1])
        known += share is not None and left is not None
        shares += [share] if share is not None else []
        first = run.verdict(POINTS[0])[1]
        errors += [first] if first is not None else []
        print(f"{run.name:24} {cells[0]:>16} {cells[1]:>16}  {source or '-'}")
    wrong = sum(s > 0.1 for s in shares)
    print(f"percentage and time left: {known} of {len(runs)}; percentages off by more than 10 points: "
          f"{wrong}; median error of the time left at 25 %: "
          f"{statistics.median(errors) if errors else float('nan'):.0%} of {len(errors)}")


def main():
    tmp = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-ends."))
    server = subprocess.Popen([TRAINYARD, "serve", "--state", str(tmp / "state")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = str(tmp / "state" / "trainyard.sock")
    try:
        folders = {name: tmp / name for name in PROGRAMS}
        for name, (command, script) in PROGRAMS.items():
            prepare(folders[name], name, command, script)
        while not os.path.exists(address):
            time.sleep(0.05)
        print("relative error of the time left; - = no percentage, ? = no time left")
        for title in ("first run", "second run"):
            report(title, run_all(address, folders))
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(tmp, ignore_errors=True)


main()
