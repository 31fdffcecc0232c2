import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory, writeSynced } from '../system/durable-file.ts'
import { corruptObject } from './git-error.ts'
import { reachableFrom } from './history/reachable.ts'
import type { Oid } from './objects/object.ts'
import { packPath, publishPack, stagedPack, stageReceivedPack } from './objects/pack-files.ts'
import { PackWriter } from './objects/pack-writer.ts'
import { isRefName } from './refs/refs.ts'
import type { Repository } from './repository.ts'

export type Refs = ReadonlyMap<string, Oid>

const signatures = ['# v2 git bundle', '# v3 git bundle']
/** Maximum bytes of the lines before the pack. */
const maxHeadBytes = 64 * 1024 * 1024
/** Maximum bytes of an object. */
const maxBytes = 1024 * 1024 * 1024

/**
 * Writes a bundle (gitformat-bundle(5)): the given refs, even if they have moved since, and all objects that they lead to. Writes nothing
 * if there is no ref.
 * @throws {GitError} `missing-object`, `corrupt-object`
 */
export async function writeBundle(repository: Repository, refs: Refs, path: string): Promise<void> {
  if (refs.size === 0) return
  const wanted = await reachableFrom(repository, refs.values())
  await using file = await open(path, 'wx')
  const lines = [...refs].map(([ref, oid]) => `${oid} ${ref}\n`)
  await file.writeFile(`${signatures[0]}\n${lines.join('')}\n`)
  const writer = new PackWriter(file, wanted.size)
  await repository.copyTo(writer, wanted)
  await writer.finish()
  await file.sync()
}

/** Restores the refs and objects of a bundle into an empty repository. @throws {GitError} `corrupt-object` for a damaged bundle. */
export async function readBundle(gitDir: string, path: string): Promise<void> {
  const { refs, length } = await readHead(path)
  await using staged = stagedPack(gitDir, randomBytes(6).toString('hex'))
  const name = await stageReceivedPack(staged, createReadStream(path, { start: length }), { maxBytes })
  await publishPack(staged, packPath(gitDir, name))
  const sorted = [...refs].sort(([a], [b]) => (a < b ? -1 : 1))
  await writeSynced(join(gitDir, 'packed-refs'), sorted.map(([ref, oid]) => `${oid} ${ref}\n`).join(''))
  await syncDirectory(gitDir)
}

/** Reads the refs of a bundle, and the number of bytes before its pack. */
async function readHead(path: string): Promise<{ refs: Map<string, Oid>; length: number }> {
  let head = Buffer.alloc(0)
  for await (const chunk of createReadStream(path, { end: maxHeadBytes })) {
    head = Buffer.concat([head, chunk])
    if (head.includes('\n\n')) break
  }
  const length = head.indexOf('\n\n') + 2
  const [signature = '', ...lines] = head.toString('utf8', 0, Math.max(0, length - 2)).split('\n')
  if (length < 2 || !signatures.includes(signature)) throw corruptObject('it is no bundle')
  const refs = new Map<string, Oid>()
  for (const line of lines) {
    if (line === '@object-format=sha1') continue
    const [, oid, ref = ''] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? []
    if (oid === undefined || (!isRefName(ref) && ref !== 'HEAD')) {
      throw corruptObject('a bundle needs what it does not hold')
    }
    if (ref !== 'HEAD') refs.set(ref, oid)
  }
  return { refs, length }
}
