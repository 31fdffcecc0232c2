import type { Finding } from '../neurons/neuron.ts'
import { pathKey, pathProblem } from '../paths/portable-path.ts'

/** Finds paths that some file system cannot store, or takes for the same path: two files, or two spellings of a folder. */
export function checkPaths(paths: readonly string[]): Finding[] {
  const findings: Finding[] = []
  const spellings = new Map<string, string>()
  for (const path of [...paths].sort()) {
    const problem = pathProblem(path)
    if (problem !== undefined) {
      findings.push({ rule: 'path', severity: 'error', path, line: 1, message: `The path ${problem}.` })
      continue
    }
    const other = firstCollision(path, spellings)
    if (other !== undefined) {
      const message = `The path and ${other} are one where case is ignored.`
      findings.push({ rule: 'path-collision', severity: 'error', path, line: 1, message })
    }
  }
  return findings
}

/** Records the spelling of a path and its folders. Returns the first one that was already recorded with another spelling. */
function firstCollision(path: string, spellings: Map<string, string>): string | undefined {
  const segments = path.split('/')
  for (let depth = 1; depth <= segments.length; depth++) {
    const spelling = segments.slice(0, depth).join('/')
    const key = pathKey(spelling)
    const known = spellings.get(key)
    if (known === undefined) spellings.set(key, spelling)
    else if (known !== spelling) return known
  }
  return undefined
}
