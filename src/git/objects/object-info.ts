import { runGit } from '../git-process.ts'
import { quarantineEnvironment } from '../quarantine.ts'
import { isOid, type ObjectType, type Oid } from './object.ts'

export type ObjectInfo = { type: ObjectType | 'tag'; size: number }

/** Types and sizes in bytes of objects, without reading them. An object that is not there is left out. @throws {GitError} `git-failed` */
export async function readObjectInfo(
  gitDir: string,
  oids: Iterable<Oid>,
  quarantine?: string,
): Promise<Map<Oid, ObjectInfo>> {
  // Anything but an object id could be a revision expression.
  const input = [...new Set(oids)].filter(isOid).map((oid) => `${oid}\n`)
  if (input.length === 0) return new Map()
  const format = '--batch-check=%(objectname) %(objecttype) %(objectsize)'
  const environment = quarantineEnvironment(gitDir, quarantine)
  const output = await runGit(gitDir, ['cat-file', '--buffer', format], { environment, input: input.join('') })
  const infos = new Map<Oid, ObjectInfo>()
  for (const line of output.split('\n')) {
    const [oid = '', type, size] = line.split(' ')
    if (size !== undefined) infos.set(oid, { type: type as ObjectInfo['type'], size: Number(size) })
  }
  return infos
}
