"
#SBATCH "(){ if ];then ((()));"";fi
}