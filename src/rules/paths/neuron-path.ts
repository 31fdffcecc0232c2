import { pathKey } from './portable-path.ts'

export function isNeuronPath(path: string): boolean {
  return path.startsWith('neurons/') && path.endsWith('.md')
}

/** True if a file is in a folder, or is the file that `folder` names. `neurons/` and `.md` may be left out, and case is ignored. */
export function isBelow(place: string, folder: string): boolean {
  if (/^neurons\/*$/i.test(folder)) return /^neurons\//i.test(place)
  const [path = '', top = ''] = [place, folder].map((each) =>
    pathKey(each.replace(/^neurons\//, '').replace(/\.md$|\/+$/, '')),
  )
  return path === top || path.startsWith(`${top}/`)
}
