import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import type { Database } from '../database/database.ts'
import type { DataDirectory } from '../directory/data-directory.ts'
import type { S3Options } from '../s3/s3-bucket.ts'
import { UploadChunks } from '../sources/upload-chunks.ts'
import { Uploads } from '../sources/upload-store.ts'
import type { BlobStore } from './blob-store.ts'
import { BucketUploads } from './bucket-uploads.ts'
import { FolderBlobs } from './folder-blobs.ts'
import { FolderUploads } from './folder-uploads.ts'
import { bucketJson, folderJson, type KeptJson } from './kept-json.ts'
import { BlobKeys, S3Blobs } from './s3-blobs.ts'
import type { UploadBytes } from './upload-bytes.ts'

export type SourceStores = {
  blobs: BlobStore
  uploads: Uploads
  uploadBytes: UploadBytes
  /** Locks by the id of an upload, held in this process while bytes are appended, or the upload is ended. */
  uploadLocks: KeyedLock
  /** Texts extracted from Sources. */
  texts: KeptJson
}

export type Places = {
  directory: DataDirectory
  database: Database
  now: () => Date
  /** Bucket for the bytes of Sources. */
  bucket: S3Options | undefined
  /** Bucket for objects that several nodes share. */
  objects: S3Options | undefined
}

export function openSourceStores({ directory, database: { db }, now, bucket, objects }: Places): SourceStores {
  const [uploads, locks] = [new Uploads(db), new KeyedLock()]
  const scratch = directory.incoming
  const texts = objects ? bucketJson(below(objects, 'texts/')) : folderJson(directory.extracts, scratch)
  return {
    blobs: bucket ? new S3Blobs(bucket, new BlobKeys(db), scratch) : new FolderBlobs(directory.blobs),
    uploads,
    uploadBytes: objects
      ? new BucketUploads(below(objects, 'uploads/'), new UploadChunks(db), { scratch, now })
      : new FolderUploads(directory.uploads, { uploads, locks, now }),
    uploadLocks: locks,
    texts,
  }
}

/** Returns the bucket with the bytes of Sources; undefined if they are in the data directory. */
export function blobBucket({ bucket, objects }: Partial<Pick<Places, 'bucket' | 'objects'>>): S3Options | undefined {
  return bucket ?? (objects && below(objects, 'blobs/'))
}

/** Returns a part of a bucket. @param folder with a trailing slash */
function below(objects: S3Options, folder: string): S3Options {
  return { ...objects, prefix: objects.prefix + folder }
}
