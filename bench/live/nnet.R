# A network of R's package nnet on made-up data: Rscript nnet.R ITERATIONS
library(nnet)
set.seed(1)
iterations <- as.integer(commandArgs(TRUE)[1])
x <- matrix(rnorm(10000 * 20), ncol = 20)
y <- class.ind(sample(c("a", "b", "c"), 10000, TRUE))
fit <- nnet(x, y, size = 12, softmax = TRUE, maxit = iterations, MaxNWts = 20000)
