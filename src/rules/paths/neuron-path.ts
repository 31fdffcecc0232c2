export function isNeuronPath(path: string): boolean {
  return path.startsWith('neurons/') && path.endsWith('.md')
}
