import { pathKey } from '../../rules/paths/portable-path.ts'

type Claim = { spelling: string; kind: 'folder' | 'file' | 'other' }

/**
 * Assigns paths that differ even if case and Unicode normalization are ignored: a folder keeps its first spelling, and a taken name gets a
 * number.
 */
export class PathClaims {
  readonly #claims = new Map<string, Claim>()

  /** Creates the claims. @param others existing files: the spelling of their folders wins, and they cannot become folders */
  constructor(others: Iterable<string>) {
    for (const path of others) {
      const folders = path.split('/').slice(0, -1)
      for (const depth of folders.keys()) {
        const folder = folders.slice(0, depth + 1).join('/')
        this.#claims.set(pathKey(folder), { spelling: folder, kind: 'folder' })
      }
      if (!this.#claims.has(pathKey(path))) this.#claims.set(pathKey(path), { spelling: path, kind: 'other' })
    }
  }

  /** Returns the path for a file that requests this one. */
  claim(path: string): string {
    const names = path.split('/')
    const file = names.pop() ?? ''
    let folder = ''
    for (const name of names) folder = `${this.#claim(folder + name, 'folder')}/`
    return this.#claim(folder + file, 'file')
  }

  #claim(path: string, kind: 'folder' | 'file'): string {
    for (let number = 1; ; number++) {
      const wished = numbered(path, kind, number)
      const known = this.#claims.get(pathKey(wished))
      if (kind === 'folder' && known?.kind === 'folder') return known.spelling
      if (known === undefined || (kind === 'file' && known.kind === 'other')) {
        this.#claims.set(pathKey(wished), { spelling: wished, kind })
        return wished
      }
    }
  }
}

function numbered(path: string, kind: 'folder' | 'file', number: number): string {
  if (number === 1) return path
  const dot = kind === 'file' ? path.lastIndexOf('.') : -1
  const end = dot > path.lastIndexOf('/') ? dot : path.length
  return `${path.slice(0, end)}-${number}${path.slice(end)}`
}
