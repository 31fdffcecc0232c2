/** Returns the path of `to` relative to the folder of `from`. Both are paths from the same root. */
export function relativePath(from: string, to: string): string {
  const folders = from.split('/').slice(0, -1)
  const names = to.split('/')
  let shared = 0
  while (shared < folders.length && shared < names.length - 1 && folders[shared] === names[shared]) shared++
  return [...folders.slice(shared).map(() => '..'), ...names.slice(shared)].join('/')
}
