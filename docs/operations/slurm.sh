#!/bin/sh
# Makes the parts of a study on a cluster of Slurm: sbatch slurm.sh, and sbatch --array=3 slurm.sh for a shard
# that failed. Every task reads each 16th file.
#SBATCH --job-name=cosketch --array=1-16
#SBATCH --cpus-per-task=2 --mem=1G
set -eu
shards=16
n=0
for file in lake/*.parquet; do
  n=$((n % shards + 1))
  if [ "$n" = "$SLURM_ARRAY_TASK_ID" ]; then set -- "$@" "$file"; fi
done
party advanced part --job study.job --shard "$SLURM_ARRAY_TASK_ID/$shards" -o "parts/$SLURM_ARRAY_TASK_ID.part" "$@"
