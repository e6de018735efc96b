//! The engine's own messages, for all targets. Their texts are in `guides/engine.md`.

use crate::definitions::messages;

messages! {
    file_too_large(size, limit);
    file_is_binary();
    python_2();
    prints_into_a_stream();
    ends_lines_in_cr();
    ends_early();
    never_closed(bracket, line);
    not_python(shown);
    cell_not_read(magic);
    written_file_not_read(magic);
    output_is_not_python(recipes);
    output_has_an_empty_block();
    output_does_not_compile(shown);
    output_is_unbound(name);
    port_does_not_end();
    no_compute_modes();
    shares_its_line();
    unnamed_arguments();
    name_in_use(name);
    would_not_parse();
    would_not_compile(shown);
    would_be_unbound(name);
    bridge_out_of_reach(reason);
    mode_out_of_reach(reason);
    no_statement_for_a_test();
    no_mode_for_a_test();
    no_test_here();
    shares_its_line_in_a_branch();
    undecided_branch();
    no_value_in_release(variable, meaning, sdk, reason);
    offered(title);
    modes_defined_elsewhere(class, member);
    has_own_mode(mode);
    no_branch_here(mode);
    asks_for_cuda(name);
    asks_for_cuda_in_a_branch(name);
    only_with_cuda(test);
    cuda_name_left(name);
    cuda_call_left();
    cuda_name_harmless(name);
    cuda_import_left(name);
    other_software_left(module, target);
    cuda_package_left(module);
    cuda_import_hides_names(module);
    cuda_device_left();
    nccl_left();
    needs_cuda(names);
    configured_for_cuda(names);
    configured_at(places);
    code_not_used(names, messages);
    updated_by_hand();
}
