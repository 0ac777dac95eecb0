#!/bin/bash -e
#SBATCH --job-name="my job" -c 4 -n 2 # note
#SBATCH --gres=gpu:a100:2 --mem-per-cpu=2G -t 1-12:30
#SBATCH -a 0-15:4%2 -d afterok:20:21,afterany:23 --signal=B:USR1@60
#SBATCH --export=ALL,A=1 --nice=5 -D /srv --requeue -p debug
#TRAINYARD --cpus 1-8 -e 'A=1 2' --hold
srun x
