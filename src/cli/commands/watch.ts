import { dirname, relative, resolve, sep } from 'node:path'
import { watch } from 'chokidar'
import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import { z } from 'zod'
import { folderProblem, UsageError } from '../cli-errors.ts'
import { type ApiServer, serverOf } from '../client/api-server.ts'
import { parseOptions } from '../command.ts'
import { addOptions, argument, flag, option, repeatable } from '../options.ts'
import { describeFile, type FileReport, isUploadable, uploadOne } from './upload.ts'

const Options = z.object({
  dir: argument(z.string(), 'the folder; its folders become those of the Sources'),
  kb: option(z.string().min(1), '<slug>', 'the knowledge base'),
  tag: repeatable(z.array(z.string()).default([]), '<tag>', 'for the Neurons'),
  url: option(z.string().optional(), '<url>', 'URL of the server (default: GANGLION_URL)'),
  json: flag('print a line of JSON for each file'),
})

/** Milliseconds without a write after which a file counts as complete. */
const settledMs = 2_000

/** Adds `watch`, which uploads over HTTP to a running server until it is interrupted. */
export function addWatchCommand(program: Command): void {
  addOptions(program.command('watch'), Options)
    .description('upload the files of a folder to a running server, then each that is added or changed')
    .addHelpText(
      'after',
      '\nThe server recognises files by their bytes. Files and folders whose names begin with a dot, and files of types' +
        '\nthat it does not take, are left out. A changed file replaces its earlier version. GANGLION_KEY holds the API key.' +
        '\n\nExample:\n  ganglion watch ~/scans --kb handbook',
    )
    .action(async (dir: string, given: object, command: Command) => {
      const { json, url, kb, tag: tags, ...options } = parseOptions(Options, command, { ...given, dir })
      const folder = resolve(options.dir)
      const problem = await folderProblem(folder, 'ganglion watch takes a folder, ganglion upload takes files.')
      if (problem !== undefined) throw new UsageError(problem)
      const print = (report: FileReport) => {
        process.stdout.write(`${json ? JSON.stringify(report) : describeFile(report)}\n`)
      }
      closeWithGrace(watchFolder(serverOf(url, 'an API key'), folder, { kb, tags, onFile: print }))
    })
}

/** Uploads the files in a folder and each file that is added or changed, one after the other. @returns a function that stops it */
function watchFolder(
  server: ApiServer,
  folder: string,
  { kb, tags, onFile }: { kb: string; tags: readonly string[]; onFile: (report: FileReport) => void },
): () => Promise<void> {
  let uploading = Promise.resolve()
  let isStopped = false
  const upload = (file: string) => {
    if (!isUploadable(file)) return
    uploading = uploading.then(async () => {
      if (isStopped) return
      onFile(await uploadOne(server, file, { kb, tags, folder: folderOf(folder, file), force: false, replace: true }))
    })
  }
  const watcher = watch(folder, {
    ignored: (path) =>
      relative(folder, path)
        .split(sep)
        .some((name) => name.startsWith('.') && name !== '..'),
    awaitWriteFinish: { stabilityThreshold: settledMs, pollInterval: 200 },
    followSymlinks: false,
  })
  watcher.on('add', upload).on('change', upload)
  return async () => {
    isStopped = true
    await watcher.close()
    await uploading
  }
}

/** Returns the folder in the tree of Sources for a file. */
function folderOf(folder: string, file: string): string {
  return `/${relative(folder, dirname(file)).split(sep).join('/')}`
}
