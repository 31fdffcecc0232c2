import type { Oid } from './objects/object.ts'
import { canonicalMode, folderMode, fromBinaryName, type Mode } from './objects/tree.ts'
import type { Repository } from './repository.ts'

export type ListedFile = { path: string; mode: Mode; oid: Oid; size: number }

/** Every file of a commit. @throws {GitError} `missing-object`, `corrupt-object` */
export async function listFiles(repository: Repository, commit: Oid): Promise<ListedFile[]> {
  const files: Omit<ListedFile, 'size'>[] = []
  const list = async (tree: Oid, prefix: string): Promise<void> => {
    for (const { mode, name, oid } of (await repository.readTree(tree)).entries) {
      const path = prefix + fromBinaryName(name)
      if (mode === folderMode) await list(oid, `${path}/`)
      else files.push({ path, mode: canonicalMode(mode), oid })
    }
  }
  await list(await repository.treeOf(commit), '')
  const infos = await repository.infos(files.map(({ oid }) => oid))
  return files.map((file) => ({ ...file, size: infos.get(file.oid)?.size ?? 0 }))
}
