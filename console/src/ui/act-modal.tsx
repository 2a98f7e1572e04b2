// A dialog that is for one act: what it is about, why the act failed, and the buttons; with a form or without.
import { Modal, Stack, type ModalProps } from '@mantine/core';
import type { ComponentProps } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import { ModalActions } from './modal-actions.tsx';
import { submitting, type Act } from './use-act.ts';

type ActModalProps = Omit<ComponentProps<typeof ModalActions>, 'act' | 'onBack' | 'onPress'> &
  Pick<ModalProps, 'title' | 'size' | 'children' | 'onClose'> & { readonly act: Act<[]> };

export function ActModal({ title, size = 'md', act, onClose, children, ...actions }: ActModalProps) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} centered>
      <Stack>
        {children}
        <ErrorNotice error={act.error} />
        <ModalActions {...actions} act={act} onBack={onClose} onPress={() => act.run()} />
      </Stack>
    </Modal>
  );
}

/** Its button submits the form. A press beside it leaves open what somebody is writing. */
export function FormModal({ title, size = 'md', act, onClose, children, ...actions }: ActModalProps) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} centered closeOnClickOutside={false}>
      <form onSubmit={submitting(act)}>
        <Stack>
          {children}
          <ErrorNotice error={act.error} />
          <ModalActions {...actions} act={act} onBack={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
