#!/usr/bin/env python3
"""Libraries of others at work until stdin ends: programs_job.py NAME. Prints a line when the
first round is done; ends with an error when a round gives another result."""
import math
import sys
import threading

import numpy as np


def data():
    chance = np.random.default_rng(1)
    x = chance.random((3000, 20))
    return x, (x[:, 0] + x[:, 1] * x[:, 2] > 0.8).astype(int)


def xgboost():
    import xgboost as xgb
    x, y = data()
    matrix = xgb.DMatrix(x, y)

    def train():
        right = 0
        for method in ("hist", "approx", "exact"):
            model = xgb.train({"objective": "binary:logistic", "tree_method": method,
                               "max_depth": 4}, matrix, 5)
            right += ((model.predict(matrix) > 0.5) == y).mean()
        return right
    return train


def boosting():
    from sklearn.ensemble import HistGradientBoostingClassifier
    x, y = data()
    return lambda: HistGradientBoostingClassifier(max_iter=10, random_state=1).fit(x, y).score(x, y)


def kmeans():
    from sklearn.cluster import KMeans
    x, _ = data()
    return lambda: KMeans(8, n_init=2, random_state=1).fit(x).inertia_


def forest():
    from sklearn.ensemble import RandomForestClassifier
    x, y = data()
    return lambda: RandomForestClassifier(20, n_jobs=-1, random_state=1).fit(x, y).score(x, y)


def loky():
    from joblib import Parallel, delayed
    return lambda: sum(Parallel(n_jobs=-1)(delayed(math.factorial)(i) for i in range(200))) % 9973


def threadpoolctl():
    import threadpoolctl
    x, _ = data()

    def product():
        with threadpoolctl.threadpool_limits(2):
            some = x.T @ x
        return float((some - x.T @ x).max() < 1e-9)
    return product


def numexpr():
    import numexpr as ne
    x, _ = data()
    return lambda: float(ne.evaluate("sum(x * 2 + 1)", {"x": x}))


def opencv():
    import cv2
    image = (np.random.default_rng(1).random((600, 600, 3)) * 255).astype(np.uint8)
    return lambda: cv2.getNumberOfCPUs() + float(cv2.GaussianBlur(image, (31, 31), 3).sum())


def main():
    work = globals()[sys.argv[1]]()
    right = work()
    print("ready", flush=True)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.is_set():
        now = work()
        assert math.isclose(now, right, rel_tol=1e-3), f"{now}, but {right} at first"


if __name__ == "__main__":
    main()
