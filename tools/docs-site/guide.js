// Gives each block of code a button that copies it. The pages say everything without it.

for (const block of document.querySelectorAll('.code')) {
  if (!navigator.clipboard) break;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    let said = 'Copied';
    try {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
    } catch {
      // The browser or the person did not allow it.
      said = 'Select and copy it by hand';
    }
    button.textContent = said;
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  block.append(button);
}
