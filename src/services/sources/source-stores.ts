import { BlobKeys } from '../../store/blobs/blob-keys.ts'
import type { BlobStore } from '../../store/blobs/blob-store.ts'
import { BucketUploads } from '../../store/blobs/bucket-uploads.ts'
import { FolderBlobs } from '../../store/blobs/folder-blobs.ts'
import { FolderUploads } from '../../store/blobs/folder-uploads.ts'
import { S3Blobs } from '../../store/blobs/s3-blobs.ts'
import type { UploadBytes } from '../../store/blobs/upload-bytes.ts'
import { KeyedLock } from '../../store/concurrency/keyed-lock.ts'
import type { DataDirectory } from '../../store/data-directory.ts'
import type { Database } from '../../store/database/database.ts'
import type { S3Options } from '../../store/s3/s3-bucket.ts'
import { UploadChunks } from '../../store/sources/upload-chunks.ts'
import { Uploads } from '../../store/sources/uploads.ts'
import { BucketJson } from '../ingest/bucket-json.ts'
import { FolderJson } from '../ingest/folder-json.ts'
import { ModelDrafts } from '../ingest/model-drafts.ts'
import { SourceTexts } from '../ingest/source-texts.ts'

/** The stores of Sources: their bytes and their extracted texts. */
export type SourceStores = {
  blobs: BlobStore
  uploads: Uploads
  uploadBytes: UploadBytes
  /** Locks by the id of an upload, held in this process while bytes are appended, or the upload is ended. */
  uploadLocks: KeyedLock
  sourceTexts: SourceTexts
  modelDrafts: ModelDrafts
}

type Places = {
  directory: DataDirectory
  database: Database
  now: () => Date
  /** For the bytes of Sources. */
  bucket: S3Options | undefined
  /** For what several nodes share. */
  objects: S3Options | undefined
}

export function openSourceStores({ directory, database: { db }, now, bucket, objects }: Places): SourceStores {
  const [uploads, locks] = [new Uploads(db), new KeyedLock()]
  const scratch = directory.incoming
  const texts = objects ? new BucketJson(below(objects, 'texts/')) : new FolderJson(directory.extracts, scratch)
  return {
    blobs: bucket ? new S3Blobs(bucket, new BlobKeys(db), scratch) : new FolderBlobs(directory.blobs),
    uploads,
    uploadBytes: objects
      ? new BucketUploads(below(objects, 'uploads/'), new UploadChunks(db), { scratch, now })
      : new FolderUploads(directory.uploads, { uploads, locks, now }),
    uploadLocks: locks,
    sourceTexts: new SourceTexts(texts),
    modelDrafts: new ModelDrafts(texts),
  }
}

/** The bucket that the bytes of Sources are in; undefined: they are in the data directory. */
export function blobBucket({ bucket, objects }: Partial<Pick<Places, 'bucket' | 'objects'>>): S3Options | undefined {
  return bucket ?? (objects && below(objects, 'blobs/'))
}

/** @param folder with a slash at the end */
function below(objects: S3Options, folder: string): S3Options {
  return { ...objects, prefix: objects.prefix + folder }
}
