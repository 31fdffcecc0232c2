import { pushButton } from './dom.ts'

for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('[data-copy]')) {
  const button = pushButton('Copy', async () => {
    field.select()
    await navigator.clipboard.writeText(field.value).catch(() => document.execCommand('copy'))
    button.textContent = 'Copied'
    const notices = document.querySelector('.notices')
    if (notices) notices.textContent = 'Copied.'
  })
  field.after(button)
}
