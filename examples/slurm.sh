#!/bin/bash
# A script for Slurm runs as it is: trainyard submit examples/slurm.sh [STEPS]
#SBATCH --job-name=trainer
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=512M
#SBATCH --time=0:30:00
#SBATCH --signal=B:USR1@60
#SBATCH --requeue
#SBATCH --partition=cpu          # no partitions here: ignored, and named
#SBATCH --output=slurm-%j.out    # the log is kept with the job: ignored, too
# For Trainyard alone: it may also run on one CPU while others need the second.
#TRAINYARD --cpus 1-2
exec build/examples/trainer --steps "${1:-2000}"
