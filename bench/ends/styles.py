"""Prints as well-known training programs do, without training: each style is a generator of
(share of the run, text). run(NAME, SECONDS) prints its texts at their times."""
import os
import sys
import time


def option(name, default):
    """The value of an option, `--name N` or `--name=N`."""
    for i, word in enumerate(sys.argv):
        if word == name:
            return int(sys.argv[i + 1])
        if word.startswith(name + "="):
            return int(word.partition("=")[2])
    return default


def epochs_of_batches(epochs, batches, every, line, close=None):
    for e in range(epochs):
        for b in range(0, batches, every):
            yield (e + b / batches) / epochs, line(e, b)
        if close:
            yield (e + 1) / epochs, close(e)


def mnist(batch=64, size=60000, title=""):
    n = size // batch

    def line(e, b):
        return (f"{title}Train Epoch: {e + 1} [{b * batch}/{size} ({100 * b / n:.0f}%)]"
                f"\tLoss: {2.3 / (1 + e + b / n):.6f}\n")
    return line, n


def pytorch_mnist():
    line, n = mnist()
    return epochs_of_batches(option("--epochs", 14), n, 40, line, lambda e:
                             "\nTest set: Average loss: 0.0456, Accuracy: 9845/10000 (98%)\n\n")


def pytorch_vae():
    line, n = mnist(128)
    return epochs_of_batches(option("--epochs", 10), n, 20, line, lambda e:
                             f"====> Epoch: {e + 1} Average loss: 164.2\n====> Test set loss: 1.5\n")


def pytorch_hogwild():
    line, n = mnist(64, 60000, f"{os.getpid()}\t")
    return epochs_of_batches(option("--epochs", 10), n, 40, line)


def pytorch_dcgan():
    epochs = option("--niter", 25)
    return epochs_of_batches(epochs, 200, 2, lambda e, b: (
        f"[{e}/{epochs}][{b}/200] Loss_D: 1.2345 Loss_G: 5.{b:04d} D(x): 0.51 D(G(z)): 0.4 / 0.02\n"))


def pytorch_imagenet():
    return epochs_of_batches(option("--epochs", 90), 500, 10, lambda e, b: (
        f"Epoch: [{e}][{b:3d}/500]\tTime  0.101 ( 0.123)\tData  0.001 ( 0.010)\tLoss 6.{b:03d}e+00 "
        f"(6.9e+00)\tAcc@1   0.39 (  0.20)\tAcc@5   1.17 (  0.80)\n"), lambda e:
        " *   Acc@1 10.1 Acc@5 25.2\n")


def pytorch_language_model():
    return epochs_of_batches(option("--epochs", 40), 300, 10, lambda e, b: (
        f"| epoch {e + 1:3d} | {b:5d}/  300 batches | lr 20.00 | ms/batch 12.34 | loss  7.{b:02d} | "
        f"ppl  1234.56\n"), lambda e: "-" * 89 + f"\n| end of epoch {e + 1:3d} | time: 12.34s | "
        "valid loss  6.78 | valid ppl   880.0\n" + "-" * 89 + "\n")


def pytorch_time_sequence():
    steps = option("--steps", 15)
    for s in range(steps):
        yield s / steps, f"STEP:  {s}\n"
        for i in range(5):
            yield (s + i / 5) / steps, f"loss: {0.5 / (1 + s + i / 5)}\n"
        yield (s + 0.99) / steps, "test loss: 0.01\n"


def nanogpt():
    n = option("--max_iters", 600000)
    for i in range(0, n, 10):
        if i % 250 == 0:
            yield i / n, f"step {i}: train loss 4.2874, val loss 4.2823\n"
        yield i / n, f"iter {i}: loss {4 / (1 + i / n):.4f}, time 321.00ms, mfu 1.23%\n"


def mingpt():
    n = option("--trainer.max_iters", 5000)
    for i in range(0, n, 10):
        yield i / n, f"iter_dt 12.34ms; iter {i}: train loss {2 / (1 + i / n):.5f}\n"


def makemore():
    n = option("--max-steps", 5000)
    for i in range(0, n, 10):
        yield i / n, f"step {i} | loss {3 / (1 + i / n):.4f} | step time 21.00ms\n"
        if i % 100 == 0 and i:
            yield i / n, f"step {i} train loss: 2.5 test loss: 2.6\n"


def pytorch_cifar():
    epochs = 3
    for e in range(epochs):
        yield e / epochs, f"\nEpoch: {e}\n"
        for b in range(0, 391, 3):
            done = b * 65 // 391
            yield (e + b / 391) / epochs, (
                " [" + "=" * done + ">" + "." * (64 - done) + f"]  Step: 20ms | Tot: 1s | Loss: 1.{b:03d}"
                f" | Acc: 40.0% ({b}/{b + 9})" + " " * 20 + "\b" * 60 + f" {b + 1}/391 \r")
        yield (e + 1) / epochs, "\n"


def llm_c():
    for s in range(40):
        if s % 10 == 0:
            yield s / 40, f"val loss {5.3 - s / 40:.6f}\n"
        yield s / 40, f"step {s}: train loss {5.3 - s / 40:.6f} (took 1234.5 ms)\n"


def darknet():
    for s in range(1, 101):
        yield s / 100, (f"{s}: {2.3 / s:.6f}, {2.3 / s:.6f} avg, 0.001000 rate, 0.123456 seconds, "
                        f"{s * 128} images\n")


def fasttext():
    for s in range(0, 1000, 5):
        yield s / 1000, (f"\rProgress: {s / 10:5.1f}% words/sec/thread:  123456 lr:  0.045 avg.loss:  "
                         f"1.234567 ETA:   0h 0m 3s")


def word2vec():
    for s in range(0, 10000, 50):
        yield s / 10000, f"\rAlpha: 0.0{s % 25:02d}  Progress: {s / 100:.2f}%  Words/thread/sec: 99.32k  "


def glove():
    n = option("-iter", 25)
    for i in range(1, n + 1):
        yield i / n, f"11/17/26 - 03:{i:02d}.12AM, iter: {i:03d}, cost: {0.1 / i:.6f}\n"


def xgboost():
    n = option("num_round", 20)
    for i in range(n):
        yield (i + 1) / n, f"[{i}]\ttrain-logloss:{0.69 / (i + 1):.5f}\teval-logloss:0.51\n"


def sklearn_mlp():
    for i in range(57):
        yield (i + 1) / 57, f"Iteration {i + 1}, loss = {0.7 / (i + 1):.8f}\n"
    yield 1, "Training loss did not improve more than tol=0.000100 for 10 consecutive epochs.\n"


def r_nnet():
    yield 0, "# weights:  23\ninitial  value 1234.567\n"
    for i in range(10, 101, 10):
        yield i / 100, f"iter {i:3d} value {900 / i:.6f}\n"
    yield 1, "final  value 9.0\nstopped after 100 iterations\n"


def libsvm():
    for i in range(40):
        yield i / 40, "." if i % 10 else "*"
    yield 1, "*\noptimization finished, #iter = 162\nnu = 0.5\nobj = -12.3, rho = 0.4\n"


def run(name, seconds):
    begin = time.monotonic()
    for share, text in globals()[name]():
        time.sleep(max(0, begin + share * seconds - time.monotonic()))
        sys.stdout.write(text)
        sys.stdout.flush()
    time.sleep(max(0, begin + seconds - time.monotonic()))
