import type { Oid } from '../../git/objects/object.ts'
import { type ListedFile, listFiles, type Repository } from '../../git/repository.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { checkKb } from '../../rules/check/check-kb.ts'
import { claimsAmong } from '../../rules/check/check-names.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { checkOtherFile, isReadByCheck, parsePageBytes } from './parse-pushed-page.ts'

/** Number of files that are read at a time. */
const chunkFiles = 500

/** Returns all findings about a commit of a knowledge base, by the rules of `ganglion check`. @throws {GitError} */
export async function checkCommit(
  repository: Repository,
  commit: Oid,
  { prefix, parser }: { prefix: string; parser: ParserPool },
): Promise<Finding[]> {
  const listed = await listFiles(repository, commit)
  const checked: CheckedFile[] = []
  for (let start = 0; start < listed.length; start += chunkFiles) {
    const chunk = listed.slice(start, start + chunkFiles)
    checked.push(...(await Promise.all(chunk.map((file) => toChecked(repository, file, parser)))))
  }
  const settings = await repository.blobAt(commit, 'kb.yaml')
  const { problems, settings: read } = parseKbFile(
    settings === undefined ? '' : await repository.readTextOnce(settings),
  )
  return checkKb(checked, problems, {
    prefix,
    inlineTags: read.inlineTags,
    audiences: read.defaultAudience,
    claimOf: claimsAmong(checked),
  })
}

async function toChecked(repository: Repository, file: ListedFile, parser: ParserPool): Promise<CheckedFile> {
  if (!file.mode.startsWith('100')) return file
  if (!isNeuronPath(file.path)) {
    if (!isReadByCheck(file)) return file
    return { ...file, findings: checkOtherFile(file.path, await repository.readTextOnce(file.oid)) }
  }
  const { data } = await repository.read(file.oid)
  return { ...file, ...(await parsePageBytes(data, parser)) }
}
