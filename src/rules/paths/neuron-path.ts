/** Whether a path on main is a Neuron's. */
export function isNeuronPath(path: string): boolean {
  return path.startsWith('neurons/') && path.endsWith('.md')
}
