// RUN: ttmlir-opt --load-pass-plugin=%fusions --split-input-file --pass-pipeline='builtin.module({pass})' %s | FileCheck %s
{examples}
