#SBATCH
mpirun&"