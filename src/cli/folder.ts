import { stat } from 'node:fs/promises'

/** What is wrong with a path that is to be a folder; `advice` is for who names a file. */
export async function folderProblem(path: string, advice: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return undefined
  return found === undefined ? `There is no folder ${path}.` : `${path} is a file: ${advice}`
}
