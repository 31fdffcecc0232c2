import { pathKey } from './portable-path.ts'

/** True if a file is in a folder, or is the file that `folder` names. `neurons/` and `.md` may be left out, and case is ignored. */
export function isBelow(place: string, folder: string): boolean {
  if (/^neurons\/*$/i.test(folder)) return /^neurons\//i.test(place)
  const [path = '', top = ''] = [place, folder].map((each) =>
    pathKey(each.replace(/^neurons\//, '').replace(/\.md$|\/+$/, '')),
  )
  return path === top || path.startsWith(`${top}/`)
}
