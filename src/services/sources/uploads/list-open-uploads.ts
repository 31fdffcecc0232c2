import type { UploadStatus } from '../../../contract/documents.ts'
import { actorOf, type Caller } from '../../caller.ts'
import type { Ganglion } from '../../ganglion.ts'
import { findKb } from '../find-source.ts'
import { asStored } from './find-upload.ts'
import { statusOf } from './read-upload.ts'

/** The caller's unfinished uploads into a knowledge base. @throws {GanglionError} `not_found` */
export async function listOpenUploads(ganglion: Ganglion, caller: Caller, kbName: string): Promise<UploadStatus[]> {
  const { id } = await findKb(ganglion, caller, kbName)
  const open = await ganglion.uploads.openOf(id, actorOf(caller).id, ganglion.now())
  return Promise.all(open.map(async (upload) => statusOf(await asStored(ganglion, upload))))
}
