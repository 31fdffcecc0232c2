for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'second'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    field.select()
    await navigator.clipboard.writeText(field.value).catch(() => document.execCommand('copy'))
    button.textContent = 'Copied'
    const notices = document.querySelector('.notices')
    if (notices) notices.textContent = 'Copied.'
  })
  field.after(button)
}
