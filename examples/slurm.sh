#!/bin/bash
# A Slurm script that also runs here: trainyard submit examples/slurm.sh [STEPS]
# It starts its program directly; there is no srun inside a Trainyard job.
#SBATCH --job-name=trainer
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=512M
#SBATCH --time=0:30:00
#SBATCH --signal=B:USR1@60
#SBATCH --requeue
#SBATCH --partition=cpu          # ignored, with a message: there are no partitions
#SBATCH --output=slurm-%j.out    # ignored: `trainyard logs` prints the output
# For Trainyard only: it can also run on one CPU while others need the second.
#TRAINYARD --cpus 1-2
exec build/examples/trainer --steps "${1:-2000}"
