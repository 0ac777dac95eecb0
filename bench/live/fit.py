#!/usr/bin/python3
"""Programs in the style of scikit-learn's and XGBoost's examples, for the experiments: made-up
data, no option for threads.

    fit.py mlp | forest | kmeans | xgboost [--size X]
"""
import argparse

import numpy as np


def data(rows, columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, columns))
    return x, (x[:, 0] * x[:, 1] + x[:, 2] + rng.normal(size=rows) > 0).astype(int)


def fit_mlp(size):
    from sklearn.neural_network import MLPClassifier
    MLPClassifier((100,), max_iter=max(2, round(30 * size)), tol=0, n_iter_no_change=1000,
                  verbose=True, random_state=1).fit(*data(8000, 60))


def fit_forest(size):
    from sklearn.ensemble import RandomForestClassifier
    RandomForestClassifier(max(4, round(60 * size)), n_jobs=-1, verbose=2,
                           random_state=1).fit(*data(10000, 30))


def fit_kmeans(size):
    from sklearn.cluster import KMeans
    KMeans(40, n_init=max(1, round(10 * size)), max_iter=30, tol=0, verbose=1,
           random_state=1).fit(data(20000, 30)[0])


def fit_xgboost(size):
    import xgboost
    x, y = data(30000, 40)
    matrix = xgboost.DMatrix(x, label=y)
    xgboost.train({"objective": "binary:logistic", "max_depth": 6}, matrix,
                  num_boost_round=max(4, round(80 * size)), evals=[(matrix, "train")])


def main():
    p = argparse.ArgumentParser(description="fit a model to made-up data")
    p.add_argument("model", choices=("mlp", "forest", "kmeans", "xgboost"))
    p.add_argument("--size", type=float, default=1)
    o = p.parse_args()
    globals()[f"fit_{o.model}"](o.size)


if __name__ == "__main__":
    main()
