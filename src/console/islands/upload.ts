import type { OpenUpload } from './upload/upload-plan.ts'
import type { UploadRow } from './upload/upload-row.ts'

/** Maximum uploads at the same time. */
const maxRunning = 2

function takeFiles(section: HTMLElement): void {
  const form = section.querySelector('form')
  const input = section.querySelector<HTMLInputElement>('input[type=file]')
  const list = section.querySelector<HTMLElement>('.uploads')
  if (form === null || input === null || list === null) return
  const { kb = '', types = '', max = '0' } = section.dataset
  const field = (name: string) => form.querySelector<HTMLInputElement>(`input[name="${name}"]`)
  const news = section.querySelector('[data-upload-news]')
  const open = openUploads(list)
  const waiting: UploadRow[] = []
  let running = 0

  const start = (row?: UploadRow) => {
    if (row) waiting.push(row)
    const next = running < maxRunning ? waiting.shift() : undefined
    if (next === undefined) return
    running++
    void next.run().finally(() => {
      running--
      start()
    })
    start()
  }
  const add = async (files: readonly File[]) => {
    // Loaded on demand: only people who upload need these modules.
    const [{ UploadRow }, { refusal, uploadOf }] = await Promise.all([
      import('./upload/upload-row.ts'),
      import('./upload/upload-plan.ts'),
    ])
    for (const file of files) {
      const known = uploadOf(file, open)
      if (known !== undefined) {
        open.splice(open.indexOf(known), 1)
        list.querySelector(`[data-upload="${CSS.escape(known.uploadId)}"]`)?.remove()
      }
      const row = new UploadRow(file, {
        kb,
        path: field('path')?.value ?? '/',
        replace: field('replace')?.checked === true,
        token: field('_csrf')?.value ?? '',
        known,
        tell: (text) => {
          if (news !== null) news.textContent = text
        },
        restart: start,
      })
      list.prepend(row.element)
      const problem = refusal(file, types.split(' '), Number(max))
      if (problem === undefined) start(row)
      else row.refuse(problem)
    }
  }

  section.querySelector('[data-clear-done]')?.addEventListener('click', () => {
    for (const row of list.querySelectorAll('[data-done]')) row.remove()
  })
  input.multiple = true
  input.required = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void add([...(input.files ?? [])])
    input.value = ''
  })
  input.addEventListener('change', () => form.requestSubmit())
  // Files that were selected before this script was loaded.
  if (input.files !== null && input.files.length > 0) form.requestSubmit()
  acceptDrops(section, add)
  addEventListener('beforeunload', (event) => {
    if (running > 0) event.preventDefault()
  })
}

function openUploads(list: HTMLElement): OpenUpload[] {
  return [...list.querySelectorAll<HTMLElement>('[data-upload]')].map(({ dataset }) => ({
    uploadId: dataset.upload ?? '',
    filename: dataset.filename ?? '',
    fileSize: Number(dataset.size),
    bytesReceived: Number(dataset.received),
  }))
}

function acceptDrops(section: HTMLElement, add: (files: readonly File[]) => Promise<void>): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
  section.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    section.classList.add('dropping')
  })
  section.addEventListener('dragleave', () => section.classList.remove('dropping'))
  section.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    section.classList.remove('dropping')
    void add([...(event.dataTransfer?.files ?? [])])
  })
}

const section = document.querySelector<HTMLElement>('#upload')
if (section !== null) takeFiles(section)
