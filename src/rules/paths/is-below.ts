import { pathKey } from './portable-path.ts'

/** Whether a file stands in a folder, or is what the folder names; `neurons/` and `.md` may be left out. Case does not count. */
export function isBelow(place: string, folder: string): boolean {
  if (/^neurons\/*$/i.test(folder)) return /^neurons\//i.test(place)
  const [path = '', top = ''] = [place, folder].map((each) =>
    pathKey(each.replace(/^neurons\//, '').replace(/\.md$|\/+$/, '')),
  )
  return path === top || path.startsWith(`${top}/`)
}
