import { open } from 'node:fs/promises'
import { textFileTypes } from '../../contract/documents.ts'
import { successors } from '../extract/registry.ts'

const headBytes = 4100
const officeTypes: ReadonlySet<string> = new Set(['docx', 'pptx', 'xlsx', 'docm', 'pptm', 'xlsm'])
const textTypes: ReadonlySet<string> = new Set([...textFileTypes, 'svg', 'eml', 'tsv'])
/** Names of the signatures of images and sound, if they differ from the extension. */
const signatures: Readonly<Record<string, readonly string[]>> = {
  jpg: ['jpg'],
  jpeg: ['jpg'],
  png: ['png', 'apng'],
  m4a: ['m4a', 'mp4', 'm4b', 'm4v', 'mov', '3gp', '3g2'],
  ogg: ['ogg', 'oga', 'ogv', 'ogx', 'ogm', 'opus', 'spx'],
  aac: ['aac', 'm4a'],
  mp4: ['mp4', 'm4v', 'm4a', 'mov', '3gp', '3g2'],
  mp3: ['mp3', 'mp2', 'mp1'],
}

/** Returns why a file cannot have the format of its extension, for people; undefined if no problem was found. */
export async function formatProblem(file: string, fileType: string): Promise<string | undefined> {
  const successor = successors.get(fileType)
  if (successor !== undefined)
    return `The format .${fileType} cannot be read: convert the file to .${successor} and upload that.`
  const head = await readHead(file)
  if (head.length === 0) return 'The file is empty.'
  // Loaded with the first upload.
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(head))?.ext
  if (officeTypes.has(fileType) && found === 'cfb') {
    return `The file is password-protected, or in a format of before 2007: save it as a .${fileType} without a password.`
  }
  if (fits(fileType, head, found)) return undefined
  const instead = found === undefined ? '' : `, but looks like .${found}`
  return `The file is not a .${fileType} as its name says${instead}.`
}

function fits(fileType: string, head: Buffer, found: string | undefined): boolean {
  // Readers of PDF look for its mark in the first kilobyte.
  const isPdf = head.subarray(0, 1024).includes('%PDF-')
  if (fileType === 'pdf') return isPdf
  if (officeTypes.has(fileType)) return head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))
  if (!textTypes.has(fileType)) return found !== undefined && (signatures[fileType] ?? [fileType]).includes(found)
  // A signature may be two letters, which a text can begin with, too. Binary formats contain NULs, which text has only in UTF-16.
  return (
    !head.subarray(0, 5).equals(Buffer.from('%PDF-')) &&
    (found === undefined || !head.includes(0) || hasByteOrderMark(head))
  )
}

function hasByteOrderMark(head: Buffer): boolean {
  return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
}

async function readHead(file: string): Promise<Buffer> {
  await using handle = await open(file, 'r')
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0)
  return buffer.subarray(0, bytesRead)
}
